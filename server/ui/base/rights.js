/* What the token of this tab permits, from GET /v1/limits. */
import { get } from './api.js';
import { Signal } from './signal.js';
import { token as inUse, tokenChanged } from './session.js';

/* Emitted when the rights are known, and when they have changed. */
export const rightsChanged = new Signal();

let token = null; /* {name, scopes, only, …}; null: unknown, or the daemon has no tokens */
let asked = null; /* the promise of loadRights(), for all that ask with the token in use */

/* Why the token does not permit calls of a scope ('train', …); '': it does, or that is unknown: the
 * daemon decides. */
export function lacks(scope) {
    return token === null || token.scopes.includes(scope) ? ''
        : `Token “${token.name}” has no scope ${scope}: use another token.`;
}

/* Asks what a token permits. */
async function ask(of) {
    const answer = await get('/v1/limits').catch(() => null);
    if (of !== inUse()) {
        return loadRights(); /* another token is in use by now */
    }
    token = answer?.token ?? null;
    asked = answer ? asked : null; /* after a failure the next caller asks again */
    rightsChanged.emit();
    return undefined;
}

/* Resolves when it is known what the token in use permits, or that this is unknown. */
export function loadRights() {
    asked = asked || ask(inUse());
    return asked;
}

tokenChanged.listen(() => {
    token = null;
    asked = null;
    void loadRights();
});
