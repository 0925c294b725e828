/* Plays a table of events to the library and compares every verdict. Needs no C library. */

#ifndef PLAY_H
#define PLAY_H

#include "unstuck.h"

typedef struct {
    uint32_t length;
    const char *bytes;
} text_t;

/* A verdict with its fields in the order of the header, and the digest of its nudge. */
typedef struct {
    uint8_t action, rung, fresh, has_finding;
    uint64_t first, last, loop_id, evidence;
    uint32_t tool;
    uint16_t laps;
    uint8_t period, confidence, rule, about_text, failed, kind, args, results, tag, most;
    uint64_t nudge;
} expected_t;

enum {
    DO_BEGIN,
    DO_ANNOUNCE,
    DO_OUTCOME,
    DO_ANNOUNCEJSON,
    DO_OUTCOMETEXT,
    DO_VETOED,
    DO_CANCEL,
    DO_FINISH,
    DO_TURN,
    DO_TURNTEXT,
    DO_USER,
    DO_USERTEXT,
    DO_CLEAR,
    DO_PROGRESS,
    DO_RETRY,
    DO_SILENCE,
    DO_FALSEPOSITIVE,
    DO_PEEK,
    DO_RESTORE
};

enum {
    ALIKE = 1,
    NUMBERED = 2,
    FAILED = 4,
    SILENT = 8,
    IDEMPOTENT = 16,
    PENDING = 16,
    TRANSIENT = 32,
    RAW = 64
};

/* Without padding, so that the table takes less flash. */
typedef struct __attribute__((packed, aligned(4))) {
    uint64_t one, two;
    uint32_t tool, number;
    uint16_t name, text, verdict, settled;
    uint8_t kind, tag, flags, which;
} event_t;

typedef struct {
    const event_t *events;
    const expected_t *expected;
    const text_t *texts;
    uint32_t count;
} table_t;

/* Plays every event. Returns the number of events before the first wrong verdict, or table->count. */
uint32_t play(const table_t *table);

#endif
