/* The token of this tab. It is kept in sessionStorage: other tabs do not see it, and it is gone
 * when the tab is closed. */
import { Signal } from './signal.js';

const KEY = 'discern.token';

/* Emitted when the token has changed. */
export const tokenChanged = new Signal();
/* Emitted with the problem of a call that another token might be permitted: answered 401, or 403 if
 * the user asks for it. */
export const tokenNeeded = new Signal();

let memory = ''; /* for browsers that forbid storage */

export function token() {
    try {
        return sessionStorage.getItem(KEY) || '';
    } catch {
        return memory;
    }
}

/* '': forgets the token. */
export function setToken(value) {
    memory = value;
    try {
        if (value) {
            sessionStorage.setItem(KEY, value);
        } else {
            sessionStorage.removeItem(KEY);
        }
    } catch {
        /* kept in memory */
    }
    tokenChanged.emit(value);
}
