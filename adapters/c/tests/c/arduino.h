/* Stubs of Arduino's header, to compile the sketch without the SDK. */

struct SerialPort {
    void begin(unsigned long) {}
    void println(const char *) {}
};

static SerialPort Serial;

static inline void delay(unsigned long) {}

void setup();
void loop();
