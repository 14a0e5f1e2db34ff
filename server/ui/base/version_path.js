/* The path of a version of a model in the API. */
import { path } from './api.js';

export function versionPath({ name, version }) {
    return path`/v1/models/${name}/versions/${version}`;
}
