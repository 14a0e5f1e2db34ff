/* Messages at the edge of the page: read by screen readers, gone after some seconds, with at most
 * one action (undo). */
import { Component, h } from '../base/preact.js';
import { Signal } from '../base/signal.js';
import { ScopedButton } from './scoped.js';

const messages = new Signal();

/* Shows a message. action: {label, run, scope}; scope: that it needs. */
export function announce(text, action) {
    messages.emit({ text, action });
}

export class Status extends Component {
    constructor(props) {
        super(props);
        this.state = { message: null };
    }

    componentDidMount() {
        this.end = messages.listen((message) => {
            clearTimeout(this.timer);
            this.setState({ message });
            this.timer = setTimeout(() => this.setState({ message: null }),
                message.action ? 15000 : 6000);
        });
    }

    componentWillUnmount() {
        this.end();
        clearTimeout(this.timer);
    }

    render(props, { message }) {
        const close = () => this.setState({ message: null });
        return h('div', { class: 'status', role: 'status', 'aria-live': 'polite' },
            message ? h('div', { class: 'toast' }, [
                h('span', {}, message.text),
                message.action ? h(ScopedButton, {
                    scope: message.action.scope, brief: true,
                    onClick: () => {
                        close();
                        message.action.run();
                    },
                }, message.action.label) : null,
                h('button', {
                    type: 'button', class: 'quiet', 'aria-label': 'Close', onClick: close,
                }, '×'),
            ]) : null);
    }
}
