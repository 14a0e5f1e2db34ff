/* The titles of the training methods, from the catalogue of the API. */
import { get } from '../../base/api.js';

const titles = new Map([['combination', 'Combination']]);

/* Loads the titles once. */
export async function loadMethods(signal) {
    if (titles.size === 1) {
        const { items } = await get('/v1/algorithms', { query: { fields: 'id,title' }, signal });
        items.forEach(({ id, title }) => titles.set(id, title));
    }
}

/* The title of a method, after loadMethods(). */
export function methodTitle(id) {
    return titles.get(id) || id;
}
