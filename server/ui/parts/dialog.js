/* A modal dialog. The browser keeps the focus inside and gives it back; Escape closes it. */
import { Component, h } from '../base/preact.js';
import { newId } from './fields.js';

/*   title, children  what it shows
 *   onClose          called when the user has closed it
 */
export class Dialog extends Component {
    constructor(props) {
        super(props);
        this.id = newId('dialog');
    }

    componentDidMount() {
        this.dialog.showModal();
    }

    /* Gives the focus back. Preact uses the element again: it must not stay open. */
    componentWillUnmount() {
        this.gone = true;
        this.dialog.close();
    }

    render({ title, children, onClose }) {
        return h('dialog', {
            ref: (dialog) => { this.dialog = dialog; },
            'aria-labelledby': this.id,
            onClose: () => this.gone || this.dialog.open || onClose(),
            onCancel: (event) => {
                event.preventDefault();
                onClose();
            },
        }, [h('h2', { id: this.id }, title), ...children]);
    }
}

/* Asks before something is deleted. text: what will be gone; run: does it. */
export function Confirm({ title, text, label = 'Delete', run, onClose }) {
    return h(Dialog, { title, onClose }, [
        h('p', {}, text),
        h('div', { class: 'buttons' }, [
            h('button', { type: 'button', class: 'danger', onClick: run }, label),
            h('button', { type: 'button', onClick: onClose }, 'Cancel'),
        ]),
    ]);
}
