/* Links between the parts of a view. The chosen one is in the URL. On narrow screens they are in
 * one line, which scrolls. */
import { Component, h } from '../base/preact.js';

/* tabs: [{name, label, href}]; chosen: a name; label: of the navigation. */
export class Tabs extends Component {
    constructor(props) {
        super(props);
        this.reveal = this.reveal.bind(this);
    }

    componentDidMount() {
        self.addEventListener('resize', this.reveal);
        this.reveal();
    }

    componentWillUnmount() {
        self.removeEventListener('resize', this.reveal);
    }

    componentDidUpdate(before) {
        if (before.chosen !== this.props.chosen) {
            this.reveal();
        }
    }

    /* Scrolls the line so that the chosen link is in its middle. */
    reveal() {
        const link = this.line.querySelector('[aria-current]');
        if (link) {
            const { left, width } = link.getBoundingClientRect();
            const line = this.line.getBoundingClientRect();
            this.line.scrollLeft += left + width / 2 - line.left - line.width / 2;
        }
    }

    render({ tabs, chosen, label }) {
        return h('nav', { class: 'tabs', 'aria-label': label },
            h('ul', { ref: (line) => { this.line = line; } },
                tabs.map((tab) => h('li', { key: tab.name }, h('a', {
                    href: tab.href, 'aria-current': tab.name === chosen ? 'page' : null,
                }, tab.label)))));
    }
}
