/* The library gives the verdicts of the table, on a machine with an operating system. */

#include "play.h"

#include <stdio.h>

#include "table.h"

int main(void) {
    const uint32_t count = (uint32_t)(sizeof events / sizeof *events);
    const table_t table = {events, expected, texts, count};
    uint32_t right = play(&table);
    if (right < count) {
        printf("event %u of %u has another verdict than under Rust\n", (unsigned)right,
               (unsigned)count);
        return 1;
    }
    printf("%u events have the verdicts of Rust\n", (unsigned)count);
    return 0;
}
