/* A robot's agent loop, with a planner that repeats a call although the wheel is jammed. */

#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <unstuck.h>

/* All memory of the detector. */
static alignas(UNSTUCK_ALIGN) unsigned char storage[UNSTUCK_SIZE_20];

/* Returns the arguments that the planner, a language model, asks for: one call in two spellings. */
static const char *ask(int turn) {
    return turn % 2 ? "{\"turns\": 2, \"wheel\": \"left\"}" : "{\"wheel\":\"left\",\"turns\":2.0}";
}

/* Runs the call. Returns its result. */
static const char *drive(void) { return "stalled: encoder at 0 of 2 turns"; }

int main(void) {
    unstuck_t *detector;
    unstuck_status_t status = unstuck_init(storage, sizeof storage, unstuck_window_20(),
        unstuck_balanced(), &detector);
    for (int turn = 0; status == UNSTUCK_OK; turn++) {
        /* Announce the call before it runs. */
        const char *args = ask(turn);
        unstuck_call_t call = {0};
        call.tool = unstuck_tool("drive");
        status = unstuck_json_fingerprint(args, strlen(args), &call.args);
        if (status != UNSTUCK_OK) {
            break;
        }
        unstuck_announced_t announced;
        status = unstuck_announce(detector, &call, &announced);
        if (status != UNSTUCK_OK) {
            break;
        }

        /* Run the call unless it is blocked, and report the outcome. */
        unstuck_verdict_t verdict = {0};
        if (announced.verdict.action >= UNSTUCK_BLOCK) {
            printf("#%d drive  refused\n", turn);
            status = unstuck_vetoed(detector, &announced.call, &verdict);
        } else {
            const char *result = drive();
            printf("#%d drive  %s\n", turn, result);
            unstuck_outcome_t outcome = {0};
            /* The digests ignore times, ids and paths in the result. */
            outcome.has_near = 1;
            outcome.failed = 1;
            status = unstuck_text_digest(result, strlen(result), &outcome.result, &outcome.near_result);
            if (status != UNSTUCK_OK) {
                break;
            }
            status = unstuck_outcome(detector, &announced.call, &outcome, &verdict);
        }

        /* Rules that need no outcome judge before the call. The stronger action holds. */
        if (announced.verdict.action > verdict.action ||
            (announced.verdict.action == verdict.action && !verdict.fresh)) {
            verdict = announced.verdict;
        }

        /* Send a nudge to the planner, once for each rung and for each refused call. */
        if (status == UNSTUCK_OK && (verdict.fresh || verdict.action >= UNSTUCK_BLOCK)) {
            char nudge[UNSTUCK_NUDGE_MAX];
            unstuck_nudge(detector, &verdict, "drive", nudge, sizeof nudge);
            printf("   %s: %s\n", unstuck_action_name(verdict.action), nudge);
        }
        /* The run ends here: stop the motors, and call a person. */
        if (status == UNSTUCK_OK && verdict.action >= UNSTUCK_START_OVER) {
            return 0;
        }
    }
    fprintf(stderr, "%s\n", unstuck_status_message(status));
    return 1;
}
