/* The place in the page, which is in the hash of the URL: #/models/iris?tab=roc. A view reads its
 * path and query from here and keeps all of its state that a link should restore here. */
import { Signal } from './signal.js';

/* Emitted with the new place. */
export const placeChanged = new Signal();

export function place() {
    try {
        const [where, query] = location.hash.replace(/^#?\/?/, '').split('?');
        return {
            path: where.split('/').filter((part) => part !== '').map(decodeURIComponent),
            query: Object.fromEntries(new URLSearchParams(query || '')),
        };
    } catch {
        return { path: [], query: {} }; /* a malformed escape */
    }
}

/* Returns the hash of a place. Values of undefined, null and '' are left out of the query. */
export function link(path, query = {}) {
    const given = Object.entries(query)
        .filter(([, value]) => value !== undefined && value !== null && value !== '');
    const search = new URLSearchParams(given).toString();
    return `#/${path.map(encodeURIComponent).join('/')}${search ? `?${search}` : ''}`;
}

let arrivals = 0;

/* Returns a number that changes when a link, the address bar or the history has set the place, and
 * not when the page itself has changed its query. */
export function arrival() {
    return arrivals;
}

export function go(path, query) {
    location.hash = link(path, query);
}

/* Changes members of the query without a new entry of the history. */
export function setQuery(changes) {
    const { path, query } = place();
    const hash = link(path, { ...query, ...changes });
    if (hash !== location.hash) {
        history.replaceState(history.state, '', hash);
        placeChanged.emit(place());
    }
}

self.addEventListener('hashchange', () => {
    arrivals++;
    placeChanged.emit(place());
});
