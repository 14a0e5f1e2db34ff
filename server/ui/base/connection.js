/* Whether the daemon answers. After a failed call the health check is repeated until it
 * succeeds. */
import { Signal } from './signal.js';

const FIRST_WAIT = 500; /* ms */
const LONGEST_WAIT = 4000;

/* Emitted with 'lost' and 'up'. Views load again at 'up'. */
export const connection = new Signal();
let lost = false;

/* The base of all paths of the API, with a slash at its end: three folders above this module. */
export const base = new URL('../../../', import.meta.url);

async function answers() {
    try {
        const response = await fetch(new URL('healthz', base), { cache: 'no-store' });
        return response.ok;
    } catch {
        return false;
    }
}

/* To be called when a call got no answer. */
export async function reportLost() {
    if (lost) {
        return;
    }
    lost = true;
    connection.emit('lost');
    for (let wait = FIRST_WAIT; !(await answers()); wait = Math.min(wait * 2, LONGEST_WAIT)) {
        await new Promise((done) => setTimeout(done, wait));
    }
    lost = false;
    connection.emit('up');
}

/* Resolves when the daemon answers, at once if no call has failed. */
export function whenUp() {
    if (!lost) {
        return Promise.resolve();
    }
    return new Promise((done) => {
        const end = connection.listen((state) => {
            if (state === 'up') {
                end();
                done();
            }
        });
    });
}
