/* The start-up code of a firmware for a Cortex-M3 under QEMU, without a C library. */

#include "start.h"

extern uint32_t stack_top[], data_start[], data_end[], data_source[], bss_start[], bss_end[];

/* Makes a semihosting request to the host. */
static void ask(uint32_t what, const void *with) {
    register uint32_t r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = with;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void say(const char *text) { ask(0x04, text); }

void say_number(uint32_t number) {
    char digits[11];
    char *first = &digits[10];
    *first = '\0';
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    say(first);
}

static _Noreturn void end(int how) {
    /* ADP_Stopped_ApplicationExit, or ADP_Stopped_RunTimeErrorUnknown. */
    ask(0x18, (const void *)(how == 0 ? 0x20026u : 0x20023u));
    for (;;) {
    }
}

static _Noreturn void fault(void) {
    say("a fault\n");
    end(1);
}

/* A word that a program is unlikely to leave on the stack. */
static const uint32_t paint = 0xa5c3965au;

uint32_t stack_used(void) {
    const uint32_t *lowest = bss_end;
    while (*lowest == paint) {
        lowest++;
    }
    return (uint32_t)((uintptr_t)stack_top - (uintptr_t)lowest);
}

void paint_stack(void) {
    uint32_t here;
    for (volatile uint32_t *place = bss_end; (uintptr_t)place + 64 < (uintptr_t)&here; place++) {
        *place = paint;
    }
}

static _Noreturn void reset(void) {
    const uint32_t *from = data_source;
    for (uint32_t *to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
    paint_stack();
    end(run());
}

/* The vector table: the initial stack, the reset handler and the fault handlers. */
__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors = {stack_top, {reset, fault, fault, fault, fault, fault}};
