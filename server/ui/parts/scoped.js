/* Controls of calls that a token may not be permitted to make. */
import { Component, h } from '../base/preact.js';
import { forbids, rightsChanged } from '../base/rights.js';

/* Draws again when the rights of the token have changed.
 *   scope, names  as for forbids(); scope may be a text
 *   show          (reason) => a node
 */
export class Permitted extends Component {
    componentDidMount() {
        this.end = rightsChanged.listen(() => this.setState({}));
    }

    componentWillUnmount() {
        this.end();
    }

    render({ scope, names, show }) {
        return show(forbids([].concat(scope), names));
    }
}

/* A button that is disabled if the token does not permit its call, with the reason beside it.
 *   scope, names  as for Permitted
 *   brief         true: the reason is the title only, for rows of tables
 *   the others as for a button
 */
export function ScopedButton({ scope, names, brief, children, ...props }) {
    return h(Permitted, {
        scope, names,
        show: (reason) => h('span', { class: 'scoped' }, [
            h('button', {
                type: 'button', ...props, disabled: Boolean(reason || props.disabled),
                title: reason || props.title,
            }, children),
            reason && !brief ? h('span', { class: 'minor' }, reason) : null,
        ]),
    });
}
