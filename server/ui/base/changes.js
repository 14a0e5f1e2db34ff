/* Changes that this tab has made. Views that show such data load again. */
import { Signal } from './signal.js';

/* Emitted with the kind of what has changed: 'datasets', 'models' or 'jobs'. */
export const changes = new Signal();

export function changed(kind) {
    changes.emit(kind);
}
