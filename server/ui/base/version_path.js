/* The path of a version of a model in the API, and what is loaded of it. */
import { path } from './api.js';

/* The members of a model that tell how it answers: all but its metrics and details, which are
 * megabytes if it has many classes. */
export const MODEL_FIELDS = ['name', 'version', 'live', 'live_version', 'newest_version',
    'algorithm', 'params', 'target', 'n_classes', 'classes', 'inputs', 'n_features', 'standardize',
    'encoding', 'weight', 'weights', 'seed', 'decision', 'n_machines', 'members', 'dataset', 'job',
    'rows', 'reading', 'decision_rule', 'conformal'].join();

export function versionPath({ name, version }) {
    return path`/v1/models/${name}/versions/${version}`;
}
