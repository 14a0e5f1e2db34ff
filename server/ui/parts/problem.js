/* An error of a call: what was wrong, where, and what to do. */
import { h } from '../base/preact.js';
import { advice } from '../base/advice.js';
import { url } from '../base/api.js';
import { link } from '../base/place.js';
import { tokenNeeded } from '../base/session.js';

/* The errors of a problem document: the whole, then one for each member. */
function details(document) {
    const list = document.errors || [];
    return list.map((e) => h('li', {}, [
        e.pointer || e.parameter || e.column
            ? h('code', {}, String(e.pointer || e.parameter || e.column)) : null,
        e.line ? ` line ${e.line}: ` : ' ',
        advice(e.detail || e.message || ''),
    ]));
}

/* error: a CallError or another Error. retry: called by a button; undefined: none. home: the view,
 * or the words of a place, that leads to others if the error is that there is no such thing. */
export function Problem({ error, retry, home }) {
    if (home && error.message.startsWith('there')) {
        return h('div', { class: 'empty', role: 'alert' }, [
            h('p', {}, `T${error.message.slice(1)}. It may have been deleted.`), /* there is … */
            h('p', { class: 'buttons centred' },
                h('a', { class: 'button', href: link([home].flat()) }, 'Choose another one')),
        ]);
    }
    const document = error.document || {};
    const items = details(document);
    const type = document.type && document.type.replace(/^.*\/problems\//, '');
    return h('div', { class: 'problem', role: 'alert' }, [
        h('strong', {}, document.title || (error.status ? `Answer ${error.status}` : 'Error')),
        h('p', {}, advice(error.message)),
        items.length > 1 ? h('ul', {}, items) : null, /* one is the message */
        document.pointer ? h('p', {}, ['At ', h('code', {}, document.pointer)]) : null,
        type ? h('p', { class: 'minor' }, [
            h('a', { href: url(`/problems/${type}`).href, target: '_blank', rel: 'noopener' },
                'What this kind of problem means'),
        ]) : null,
        error.status === 403 ? h('button', {
            type: 'button', onClick: () => tokenNeeded.emit(error),
        }, 'Use another token') : null,
        retry ? h('button', { type: 'button', onClick: retry }, 'Try again') : null,
    ]);
}

/* Warnings of the API: strings or objects with a detail. Nothing if there are none. */
export function Warnings({ warnings, title = 'Warnings' }) {
    if (!warnings || warnings.length === 0) {
        return null;
    }
    return h('div', { class: 'warnings' }, [
        h('strong', {}, title),
        h('ul', {}, warnings.map((w) => h('li', {}, advice(typeof w === 'string' ? w
            : w.detail || w.message || JSON.stringify(w))))),
    ]);
}
