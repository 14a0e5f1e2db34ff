/* A list of listeners. */
export class Signal {
    constructor() {
        this.listeners = new Set();
    }

    /* Calls the function at each emit. Returns a function that ends this. */
    listen(listener) {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    emit(value) {
        for (const listener of [...this.listeners]) {
            if (this.listeners.has(listener)) { /* not ended by one before */
                listener(value);
            }
        }
    }
}
