/* The dry run of a request while it is edited: what the API says of it. */
import { post } from '../../base/api.js';
import { connection } from '../../base/connection.js';
import { tokenChanged } from '../../base/session.js';

const PAUSE = 400; /* ms without a change before it is sent */

/* Calls onResult({of, answer, error}) for the latest request given to set(); `of` is that request.
 * An earlier check is given up. */
export class Check {
    constructor(onResult) {
        this.onResult = onResult;
        this.ends = [
            connection.listen((state) => state === 'up' && this.repeat()),
            tokenChanged.listen(() => this.repeat()),
        ];
    }

    set(request) {
        this.request = request;
        clearTimeout(this.timer);
        this.abort?.abort();
        if (request) {
            this.timer = setTimeout(() => this.run(request), PAUSE);
        }
    }

    repeat() {
        this.set(this.request);
    }

    async run(request) {
        const abort = new AbortController();
        this.abort = abort;
        let result;
        try {
            result = {
                of: request, error: null,
                answer: await post('/v1/jobs', request, {
                    query: { dry_run: true }, signal: abort.signal,
                }),
            };
        } catch (error) {
            result = { of: request, answer: null, error };
        }
        if (!abort.signal.aborted) {
            this.onResult(result);
        }
    }

    end() {
        this.set(null);
        this.ends.forEach((end) => end());
    }
}
