/* The button that stores a decision rule, and its command. */
import { h } from '../../base/preact.js';
import { RequestCode } from '../../parts/code.js';
import { versionPath } from '../../base/version_path.js';
import { ScopedButton } from '../../parts/scoped.js';

/* rule: null: it is incomplete. store: (rule) => stores it. */
export function StoreRule({ model, rule, store, label }) {
    return h('div', { class: 'stack' }, [
        h('div', { class: 'buttons' }, h(ScopedButton, {
            scope: 'write', class: 'primary', disabled: rule === null,
            onClick: () => void store(rule),
        }, label)),
        rule ? h(RequestCode, {
            request: {
                method: 'PUT', body: rule,
                path: `${versionPath(model)}/decision`,
            },
        }) : null,
    ]);
}
