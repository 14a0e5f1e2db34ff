/* A button for a call that needs a scope. If the token does not have it, the button is disabled,
 * with the reason beside it. */
import { Component, h } from '../base/preact.js';
import { lacks, rightsChanged } from '../base/rights.js';

/*   scope  'train', 'write' or a list of both
 *   brief  true: the reason is the title only, for rows of tables
 *   the others as for a button
 */
export class ScopedButton extends Component {
    componentDidMount() {
        this.end = rightsChanged.listen(() => this.setState({}));
    }

    componentWillUnmount() {
        this.end();
    }

    render({ scope, brief, children, ...props }) {
        const reason = [].concat(scope).map(lacks).find(Boolean) || '';
        const button = h('button', {
            type: 'button', ...props, disabled: Boolean(reason || props.disabled),
            title: reason || props.title,
        }, children);
        return h('span', { class: 'scoped' }, [
            button, reason && !brief ? h('span', { class: 'minor' }, reason) : null,
        ]);
    }
}
