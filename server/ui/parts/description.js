/* The dialog that changes the description and the tags of a dataset or a model. */
import { Component, h } from '../base/preact.js';
import { patch, path } from '../base/api.js';
import { changed } from '../base/changes.js';
import { Dialog } from './dialog.js';
import { Field, TextField } from './fields.js';
import { Problem } from './problem.js';
import { announce } from './status.js';

/*   kind     datasets or models
 *   thing    its name, description and tags, as the page shows them
 *   etag     of that state: what somebody else has written since then is not replaced unseen
 *   hint     what to write
 */
export class DescriptionDialog extends Component {
    constructor(props) {
        super(props);
        const { description, tags } = props.thing;
        this.state = { description: description || '', tags: tags.join(', '), error: null };
    }

    async save() {
        const { kind, thing, etag, onClose } = this.props;
        const tags = this.state.tags.split(',').map((tag) => tag.trim()).filter(Boolean);
        try {
            await patch(path`/v1/${kind}/${thing.name}`,
                { description: this.state.description.trim() || null, tags: [...new Set(tags)] },
                { headers: { 'If-Match': etag } });
        } catch (error) {
            this.setState({ error });
            if (error.status === 412) {
                changed(kind); /* brings the new ETag */
            }
            return;
        }
        announce('Description and tags were saved');
        changed(kind);
        onClose();
    }

    render({ hint, onClose }, { description, tags, error }) {
        return h(Dialog, { title: 'Description and tags', onClose }, [
            error?.status === 412 ? h('p', { class: 'warnings', role: 'alert' },
                'Nothing was changed: somebody else has changed it since it was shown here. Save ' +
                'again to replace what they wrote.') : error ? h(Problem, { error }) : null,
            h('form', {
                class: 'stack', onSubmit: (event) => {
                    event.preventDefault();
                    void this.save();
                },
            }, [
                h(Field, {
                    label: 'Description', hint, control: (attributes) => h('textarea', {
                        ...attributes, value: description, maxlength: 4000, class: 'prose',
                        onInput: (event) => this.setState({ description: event.target.value }),
                    }),
                }),
                h(TextField, {
                    label: 'Tags', value: tags, hint: 'Words to find it by, with commas between.',
                    onInput: (text) => this.setState({ tags: text }),
                }),
                h('div', { class: 'buttons' }, [
                    h('button', { type: 'submit', class: 'primary' }, 'Save'),
                    h('button', { type: 'button', onClick: onClose }, 'Cancel'),
                ]),
            ]),
        ]);
    }
}
