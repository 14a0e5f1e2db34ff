/* Where files are dropped or chosen. */
import { Component, h } from '../base/preact.js';
import { newId } from './fields.js';

/*   label      what to drop
 *   onFile     gets the File
 *   accept     of the input
 *   large      the box is tall
 *   forbidden  why no file can be taken; '': one can
 */
export class FilePick extends Component {
    constructor(props) {
        super(props);
        this.id = newId('file');
        this.state = { over: false };
    }

    render({ label, hint, accept, onFile, large, forbidden }, { over }) {
        const set = (value) => (event) => {
            event.preventDefault();
            this.setState({ over: value && !forbidden });
        };
        return h('div', {
            class: `drop${large ? ' large' : ''}${over ? ' over' : ''}`,
            onDragEnter: set(true), onDragOver: set(true), onDragLeave: set(false),
            onDrop: (event) => {
                event.preventDefault();
                event.stopPropagation();
                this.setState({ over: false });
                const [file] = event.dataTransfer.files;
                if (file && !forbidden) {
                    onFile(file);
                }
            },
        }, [
            h('label', { for: this.id }, label),
            h('input', {
                type: 'file', id: this.id, accept: accept || null, disabled: Boolean(forbidden),
                onChange: (event) => {
                    const [file] = event.target.files;
                    event.target.value = ''; /* the same file can be chosen again */
                    if (file) {
                        onFile(file);
                    }
                },
            }),
            hint || forbidden ? h('p', { class: 'hint' }, forbidden || hint) : null,
        ]);
    }
}
