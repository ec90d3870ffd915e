// The names of assigned numbers, as text with a line for each number, in the order of the numbers: the number as four
// hexadecimal digits, a tab, the name in UTF-8, a line feed.

struct bluetooth_names {
  const unsigned char *octets;
  long count;
};

// Services, characteristics, descriptors, declarations and units, by their 16-bit UUIDs.
struct bluetooth_names bluetooth_uuid_names(void);
// The categories of appearances, and their subcategories.
struct bluetooth_names bluetooth_appearance_names(void);
// Companies, by company identifier.
struct bluetooth_names bluetooth_company_names(void);
