/* The request as text. */
import { Component, h } from '../../base/preact.js';
import { Field } from '../../parts/fields.js';

/* {request} or {error} of a text. */
export function parseRequest(text) {
    try {
        const request = JSON.parse(text);
        return request !== null && typeof request === 'object' && !Array.isArray(request)
            ? { request } : { error: 'A request is an object: { … }' };
    } catch (error) {
        return { error: error.message };
    }
}

/*   request    the latest request that was JSON
 *   text       a text that is none; undefined: the request is shown
 *   onRequest  called with a request
 *   onText     called with a text that is none
 */
export class JsonSection extends Component {
    constructor({ request, text }) {
        super();
        this.state = { text: text ?? JSON.stringify(request, null, 2) };
    }

    componentWillReceiveProps({ request, text }) {
        const mine = parseRequest(this.state.text).request;
        if (text === undefined && JSON.stringify(mine) !== JSON.stringify(request)) {
            this.setState({ text: JSON.stringify(request, null, 2) });
        }
    }

    render({ onRequest, onText }, { text }) {
        return h(Field, {
            label: 'Request', error: parseRequest(text).error,
            hint: 'The body of POST /v1/jobs. What you change here is changed in the forms, and ' +
                'the other way round.',
            control: (attributes) => h('textarea', {
                ...attributes, class: 'request', spellcheck: false, value: text,
                onInput: (event) => {
                    const typed = event.target.value;
                    this.setState({ text: typed });
                    const { request } = parseRequest(typed);
                    if (request) {
                        onRequest(request);
                    } else {
                        onText(typed);
                    }
                },
            }),
        });
    }
}
