{{/* What all hooks say alike. No side effects: dry runs are judged too. */}}
{{- define "loralint.hook" -}}
clientConfig: {{- include "loralint.client" . | nindent 2 }}
admissionReviewVersions: [v1]
sideEffects: None
matchPolicy: Equivalent
failurePolicy: {{ .policy }}
timeoutSeconds: {{ .root.Values.timeoutSeconds }}
namespaceSelector: {{- include "loralint.namespaces" . | nindent 2 }}
{{- end -}}

{{/* Locks of leader elections have no data, bundles of CAs no such keys: neither waits for us. */}}
{{- define "loralint.configMapConditions" -}}
- name: holds-a-config
  expression: >-
    (has(object.data) && object.data.exists(key, key.matches('\\.(ya?ml|json|toml)$'))) ||
    (has(object.binaryData) && object.binaryData.exists(key, key.matches('\\.(ya?ml|json|toml)$')))
- name: says-something-new
  expression: >-
    request.operation == 'CREATE' ||
    has(object.data) != has(oldObject.data) || (has(object.data) && object.data != oldObject.data) ||
    has(object.binaryData) != has(oldObject.binaryData) ||
    (has(object.binaryData) && object.binaryData != oldObject.binaryData)
- name: is-kept
  expression: "!has(object.metadata.deletionTimestamp)"
{{- end -}}

{{/* The generation counts changes of the spec, so that a status or a label does not ask us. */}}
{{- define "loralint.workloadConditions" -}}
- name: says-something-new
  expression: >-
    request.operation == 'CREATE' ||
    !has(object.metadata.generation) || !has(oldObject.metadata.generation) ||
    object.metadata.generation != oldObject.metadata.generation ||
    has(object.metadata.annotations) != has(oldObject.metadata.annotations) ||
    (has(object.metadata.annotations) && object.metadata.annotations != oldObject.metadata.annotations)
- name: is-kept
  expression: "!has(object.metadata.deletionTimestamp)"
{{- end -}}

{{/* A kind whose CRD is not installed never comes. */}}
{{- define "loralint.workloadRules" -}}
{{- $kinds := list
  (dict "apiGroups" (list "batch") "apiVersions" (list "v1") "resources" (list "jobs" "cronjobs"))
  (dict "apiGroups" (list "kubeflow.org") "apiVersions" (list "v1" "v2beta1" "v2alpha1") "resources" (list "pytorchjobs" "mpijobs" "tfjobs" "jaxjobs" "xgboostjobs" "paddlejobs" "trainjobs"))
  (dict "apiGroups" (list "trainer.kubeflow.org") "apiVersions" (list "v1alpha1") "resources" (list "trainjobs" "trainingruntimes"))
  (dict "apiGroups" (list "ray.io") "apiVersions" (list "v1") "resources" (list "rayjobs"))
  (dict "apiGroups" (list "jobset.x-k8s.io") "apiVersions" (list "v1alpha2") "resources" (list "jobsets"))
  (dict "apiGroups" (list "batch.volcano.sh") "apiVersions" (list "v1alpha1") "resources" (list "jobs"))
  (dict "apiGroups" (list "argoproj.io") "apiVersions" (list "v1alpha1") "resources" (list "workflows" "cronworkflows" "workflowtemplates"))
  (dict "apiGroups" (list "workload.codeflare.dev") "apiVersions" (list "v1beta2") "resources" (list "appwrappers"))
  (dict "apiGroups" (list "sagemaker.amazonaws.com") "apiVersions" (list "v1") "resources" (list "hyperpodpytorchjobs"))
  (dict "apiGroups" (list "kaiwo.silogen.ai") "apiVersions" (list "v1alpha1") "resources" (list "kaiwojobs"))
  (dict "apiGroups" (list "kaito.sh") "apiVersions" (list "v1alpha1" "v1beta1") "resources" (list "workspaces"))
  (dict "apiGroups" (list "leaderworkerset.x-k8s.io") "apiVersions" (list "v1") "resources" (list "leaderworkersets"))
-}}
{{- if .Values.pods -}}{{- $kinds = append $kinds (dict "apiGroups" (list "") "apiVersions" (list "v1") "resources" (list "pods")) -}}{{- end -}}
{{- range concat $kinds (.Values.workloads.extraRules | default list) }}
- {{ merge (dict "operations" (list "CREATE" "UPDATE") "scope" "Namespaced") . | toJson }}
{{- end -}}
{{- end -}}

{{/* What a TrainJob or a workflow takes its training from, which is asked for by its name. */}}
{{- define "loralint.getRules" -}}
- {apiGroups: [trainer.kubeflow.org], resources: [trainingruntimes, clustertrainingruntimes], verbs: [get]}
- {apiGroups: [argoproj.io], resources: [workflowtemplates, clusterworkflowtemplates], verbs: [get]}
{{- end -}}
