/* What may begin to train: nothing is stored for a place that was opened by its address, because
 * its points may be those of somebody else. A click does: on “Train”, on a link of the playground,
 * or on the drawing itself. */
import { h } from '../../base/preact.js';
import { plural } from '../../base/format.js';
import { ScopedButton } from '../../parts/scoped.js';
import { SCRATCH } from './scratch.js';

let clicked = null; /* the hash of the last StartLink */

/* A link whose place trains at once. */
export function StartLink({ children, ...props }) {
    const onClick = () => { clicked = props.href === location.hash ? null : props.href; };
    return h('a', { ...props, onClick }, children);
}

/* Returns whether the present place was opened by a StartLink. Forgets the click. */
export function takeClick() {
    const taken = clicked === location.hash;
    clicked = null;
    return taken;
}

/* What the training would store, and the button that begins it. */
export function StartPanel({ points, nModels, onStart }) {
    return h('section', { class: 'card stack', 'aria-label': 'Not trained yet' }, [
        h('p', {}, `Nothing is stored yet. “Train” stores the ${plural(points.length, 'point')} ` +
            `that you see as a dataset and trains ${plural(nModels, 'model')} on them; all of ` +
            'it is deleted an hour after the last change.'),
        h('div', { class: 'buttons' },
            h(ScopedButton, {
                scope: ['write', 'train', 'predict'], names: [SCRATCH, `${SCRATCH}-a`],
                class: 'primary', onClick: onStart,
            }, 'Train')),
    ]);
}
