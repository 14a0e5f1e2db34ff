/* Titles of the methods, from the catalogue of the API. */
import { get } from './api.js';

let titles = null;

/* Resolves to {id: title}; asked once. {} if the call fails: ids are shown then. */
export async function methodTitles() {
    titles = titles || get('/v1/algorithms', { query: { fields: 'id,title' } });
    try {
        return Object.fromEntries((await titles).items.map((item) => [item.id, item.title]));
    } catch {
        titles = null;
        return {};
    }
}
