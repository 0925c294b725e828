/* The library gives the verdicts of the table, on a microcontroller. */

#include "play.h"
#include "start.h"
#include "table.h"

int run(void) {
    const uint32_t count = (uint32_t)(sizeof events / sizeof *events);
    const table_t table = {events, expected, texts, count};
    uint32_t right = play(&table);
    if (right < count) {
        say("event ");
        say_number(right);
        say(" of ");
        say_number(count);
        say(" has another verdict than under Rust\n");
        return 1;
    }
    say_number(count);
    say(" events have the verdicts of Rust\n");
    return 0;
}
