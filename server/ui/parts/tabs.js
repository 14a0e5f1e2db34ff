/* Links between the parts of a view. The chosen one is in the URL. */
import { h } from '../base/preact.js';

/* tabs: [{name, label, href}]; chosen: a name; label: of the navigation. */
export function Tabs({ tabs, chosen, label }) {
    return h('nav', { class: 'tabs', 'aria-label': label }, h('ul', {},
        tabs.map((tab) => h('li', { key: tab.name }, h('a', {
            href: tab.href, 'aria-current': tab.name === chosen ? 'page' : null,
        }, tab.label)))));
}
