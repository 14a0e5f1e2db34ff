/* Work that is asked again before it has ended: the earlier run is aborted and ignored. */
export class Task {
    constructor() {
        this.abort = null;
    }

    /* work: (signal) => Promise. Calls done(result) or failed(error), unless it was stopped. */
    async run(work, done, failed) {
        this.stop();
        const abort = new AbortController();
        this.abort = abort;
        try {
            const result = await work(abort.signal);
            if (!abort.signal.aborted) {
                done(result);
            }
        } catch (error) {
            if (!abort.signal.aborted) {
                failed(error);
            }
        }
    }

    stop() {
        this.abort?.abort();
        this.abort = null;
    }
}
