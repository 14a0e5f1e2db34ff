/* What the token of this tab permits, from GET /v1/limits. */
import { get } from './api.js';
import { Signal } from './signal.js';
import { tokenChanged } from './session.js';

/* Emitted when the rights are known, and when they have changed. */
export const rightsChanged = new Signal();

let token = null; /* {name, scopes, only, …}; null: unknown, or the daemon has no tokens */

/* Why the token does not permit calls of a scope ('train', …); '': it does, or that is unknown: the
 * daemon decides. */
export function lacks(scope) {
    return token === null || token.scopes.includes(scope) ? ''
        : `Token “${token.name}” has no scope ${scope}: use another token.`;
}

export async function loadRights() {
    try {
        token = (await get('/v1/limits')).token;
    } catch {
        token = null;
    }
    rightsChanged.emit();
}

tokenChanged.listen(() => {
    token = null;
    void loadRights();
});
