/* The services of a firmware without a C library: start-up, output to the host, and exit. */

#ifndef START_H
#define START_H

#include <stdint.h>

/* The main function of a firmware. Returns 0 for success. */
int run(void);

/* Writes text to the host. */
void say(const char *text);

/* Writes a number to the host. */
void say_number(uint32_t number);

/* Paints the unused part of the stack, so that stack_used() starts again. */
void paint_stack(void);

/* Returns the number of bytes of stack that were used since it was painted. */
uint32_t stack_used(void);

#endif
