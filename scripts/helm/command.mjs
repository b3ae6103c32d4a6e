/** The Go module of the helm that the tests of the chart and the release use. */
export const HELM = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
