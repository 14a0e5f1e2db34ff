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

/* Whether a pattern of --only, in which * stands for any characters, is for a name. */
function matches(pattern, name) {
    const parts = pattern.split(/\*+/).map((part) => part.replace(/\W/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`).test(name);
}

/* Why the token is not for the name of a dataset or model; '': it is, or that is unknown. */
function excludes(name) {
    const patterns = token?.only;
    return !name || !patterns || patterns.some((pattern) => matches(pattern, name)) ? ''
        : `Token “${token.name}” is for ${patterns.join(', ')} only, not for “${name}”: use ` +
            'another token.';
}

/* Why the token does not permit a call; '': it does, or that is unknown. scopes: that it needs;
 * names: of its datasets and models, each may be ''. */
export function forbids(scopes, names = []) {
    return scopes.map(lacks).find(Boolean) || names.map(excludes).find(Boolean) || '';
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
