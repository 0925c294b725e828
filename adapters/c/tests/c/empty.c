/* Nothing: what the linker is asked to keep is all that is in the program. */

int main(void) { return 0; }
