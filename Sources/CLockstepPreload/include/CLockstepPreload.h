// The library that `ble lockstep` loads into programs. It has no functions to call: it replaces those of the C library.

#ifndef C_LOCKSTEP_PRELOAD_H
#define C_LOCKSTEP_PRELOAD_H

#endif
