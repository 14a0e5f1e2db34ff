/* A short state: of a job, of a version. */
import { h } from '../base/preact.js';

const KINDS = {
    succeeded: 'good', live: 'good', running: 'busy', queued: 'busy', failed: 'bad',
    cancelled: 'idle',
};

export function Badge({ text, kind }) {
    return h('span', { class: `badge ${kind || KINDS[text] || 'idle'}` }, text);
}
