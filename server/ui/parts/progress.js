/* A progress bar with its text. Screen readers get the text at most every 5 seconds. */
import { Component, h } from '../base/preact.js';

const QUIET = 5000; /* ms between two messages */

/* share: 0 … 1; undefined: unknown. label: of what; text: how far. */
export class Progress extends Component {
    constructor(props) {
        super(props);
        this.state = { read: '' };
        this.at = -QUIET;
    }

    componentWillReceiveProps({ text }) {
        const now = performance.now();
        if (text !== this.state.read && now - this.at >= QUIET) {
            this.at = now;
            this.setState({ read: text });
        }
    }

    render({ share, label, text }, { read }) {
        const known = share !== undefined && share !== null;
        return h('div', { class: 'progress' }, [
            h('progress', { max: 1, value: known ? share : null, 'aria-label': label }),
            h('span', { class: 'progress-text' }, text),
            h('span', { class: 'hidden', 'aria-live': 'polite' }, read),
        ]);
    }
}
