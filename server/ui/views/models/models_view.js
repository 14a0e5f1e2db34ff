/* The view "Models": the list of models, or the page of one. */
import { h } from '../../base/preact.js';
import { ModelList } from './model_list.js';
import { ModelPage } from './model_page.js';

/* path: [], [name] or [name, version]; the version may also be in the query. */
export function ModelsView({ path: [name, version], query }) {
    return name === undefined ? h(ModelList, { query })
        : h(ModelPage, { key: name, name, version: version ?? query.version, query });
}
