/* A robot's agent loop: a wheel is jammed, and the planner keeps asking for the same. */

#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <unstuck.h>

/* All the memory that it takes. */
static alignas(UNSTUCK_ALIGN) unsigned char storage[UNSTUCK_SIZE_20];

/* What the planner, a language model, asks for: the same thing, spelled now so, now so. */
static const char *ask(int turn) {
    return turn % 2 ? "{\"turns\": 2, \"wheel\": \"left\"}" : "{\"wheel\":\"left\",\"turns\":2.0}";
}

/* What the robot does about it, and what comes back. */
static const char *drive(void) { return "stalled: encoder at 0 of 2 turns"; }

int main(void) {
    unstuck_t *detector;
    unstuck_status_t status =
        unstuck_init_20(storage, sizeof storage, unstuck_balanced(), &detector);
    for (int turn = 0; status == UNSTUCK_OK; turn++) {
        /* Before the call runs: announce it. */
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

        /* Run it, or do not; either way, tell what came of it. */
        unstuck_verdict_t verdict = {0};
        if (announced.verdict.action >= UNSTUCK_BLOCK) {
            printf("#%d drive  refused\n", turn);
            status = unstuck_vetoed(detector, &announced.call, &verdict);
        } else {
            const char *answer = drive();
            printf("#%d drive  %s\n", turn, answer);
            unstuck_outcome_t outcome = {0};
            /* Times, ids and paths in the answer do not make it another. */
            outcome.has_near = 1;
            outcome.failed = 1;
            status = unstuck_text_digest(answer, strlen(answer), &outcome.result, &outcome.near_result);
            if (status != UNSTUCK_OK) {
                break;
            }
            status = unstuck_outcome(detector, &announced.call, &outcome, &verdict);
        }

        /* Rules that need no outcome spoke before: whichever asks for more holds. */
        if (announced.verdict.action > verdict.action ||
            (announced.verdict.action == verdict.action && !verdict.fresh)) {
            verdict = announced.verdict;
        }

        /* What the planner reads with the answer: once for each rung, and why a call did not run. */
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
