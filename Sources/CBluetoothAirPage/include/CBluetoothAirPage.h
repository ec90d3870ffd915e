// The files of the page "a window on the air", which are part of the program. Documentation/Web.md is for users.

struct air_page_file {
  const char *name;
  const unsigned char *octets;
  long count;
};

// Returns the file with this index; a file without a name if there is none.
struct air_page_file air_page_file(long index);
