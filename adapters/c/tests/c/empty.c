/* An empty program. It contains only the functions that the linker is asked to keep. */

int main(void) { return 0; }
