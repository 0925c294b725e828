/* What a firmware has instead of a C library: a beginning, a line to the host, and an end. */

#ifndef START_H
#define START_H

#include <stdint.h>

/* What a firmware does. Its result is how it ended: 0 for well. */
int run(void);

/* Writes text to the host. */
void say(const char *text);

/* Writes a number to the host. */
void say_number(uint32_t number);

/* Paints what lies below what is in use, so that stack_used() forgets what was. */
void paint_stack(void);

/* How many bytes of the stack were used since it was painted. */
uint32_t stack_used(void);

#endif
