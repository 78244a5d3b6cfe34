{{/* 46 letters: a CronJob called NAME-certs may have 52. */}}
{{- define "loralint.name" -}}
{{- if contains "loralint" .Release.Name -}}{{ .Release.Name | trunc 46 | trimSuffix "-" }}{{- else -}}{{ printf "%s-loralint" .Release.Name | trunc 46 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{- define "loralint.selector" -}}
app.kubernetes.io/name: loralint
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: webhook
{{- end -}}

{{- define "loralint.labels" -}}
app.kubernetes.io/name: loralint
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- define "loralint.image" -}}
{{- if .Values.image.digest -}}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{- else -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end -}}

{{- define "loralint.secret" -}}
{{- if eq .Values.certs.mode "existingSecret" -}}{{ required "certs.mode existingSecret needs certs.existingSecret" .Values.certs.existingSecret }}{{- else -}}{{ include "loralint.name" . }}-tls{{- end -}}
{{- end -}}

{{- define "loralint.podSecurity" -}}
runAsNonRoot: true
{{- if not (.Capabilities.APIVersions.Has "security.openshift.io/v1") }}
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "loralint.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* What stops here would stop a cluster there. */}}
{{- define "loralint.checked" -}}
{{- $fails := or (and .Values.configMaps.enabled (eq .Values.configMaps.failurePolicy "Fail")) (and .Values.workloads.enabled (eq .Values.workloads.failurePolicy "Fail")) -}}
{{- if and $fails (lt (int .Values.replicas) 2) -}}{{ fail "failurePolicy Fail with fewer than 2 replicas refuses every write while the only one restarts: raise replicas" }}{{- end -}}
{{- if eq (int .Values.port) (int .Values.metricsPort) -}}{{ fail "port and metricsPort are the same, so that no pod starts: change one" }}{{- end -}}
{{- if and .Values.podDisruptionBudget.enabled (gt (int .Values.replicas) 1) (ge (int (include "loralint.kept" .)) (int .Values.replicas)) -}}
  {{- fail (printf "podDisruptionBudget.minAvailable %v of %v replicas lets no pod go, so that every drain of a node hangs: lower it or raise replicas" .Values.podDisruptionBudget.minAvailable .Values.replicas) -}}
{{- end -}}
{{- if and (has "Warn" .Values.policy.actions) (has "Deny" .Values.policy.actions) -}}{{ fail "policy.actions: the API server takes no Warn beside Deny, for a refusal says the same: write [Warn] or [Deny]" }}{{- end -}}
{{- if and .Values.settings (not (regexMatch "=|^\\s*([#\\[]|$)" .Values.settings)) -}}{{ fail (printf "settings: %q sets nothing, so that no pod starts; it is the text of a loralint.toml: --set-file settings=FILE" (trunc 40 .Values.settings)) }}{{- end -}}
{{- range $of, $schedule := dict "certs" .Values.certs.schedule "scan" .Values.scan.schedule -}}
  {{- if not (regexMatch "^(@every \\S+|@[a-z]+|\\S+(\\s+\\S+){4})$" $schedule) -}}{{ fail (printf "%s.schedule: %q is no schedule of cron: write five fields, such as \"17 3 * * *\"" $of $schedule) }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* How many pods a drain has to leave; a share is rounded up, as the API server does. */}}
{{- define "loralint.kept" -}}
{{- $given := toString .Values.podDisruptionBudget.minAvailable -}}
{{- if hasSuffix "%" $given -}}{{ div (add (mul (trimSuffix "%" $given | int) .Values.replicas) 99) 100 }}{{- else -}}{{ $given }}{{- end -}}
{{- end -}}

{{/* Memory by the number of workers; what is given counts first. */}}
{{- define "loralint.resources" -}}
{{- $workers := int .Values.workers -}}
{{- $memory := dict "requests" (dict "cpu" "100m" "memory" (printf "%dMi" (add 192 (mul 32 $workers)))) "limits" (dict "memory" (printf "%dMi" (add 640 (mul 64 $workers)))) -}}
{{- merge (deepCopy (.Values.resources | default dict)) $memory | toYaml -}}
{{- end -}}

{{/* A hook's caBundle is left out where somebody else writes it: an empty one would be a wrong one. */}}
{{- define "loralint.client" -}}
service: {name: {{ include "loralint.name" .root }}, namespace: {{ .root.Release.Namespace }}, port: 443, path: {{ .path }}}
{{- if and (eq .root.Values.certs.mode "existingSecret") .root.Values.certs.caBundle }}
caBundle: {{ .root.Values.certs.caBundle }}
{{- end }}
{{- end -}}

{{- define "loralint.hookAnnotations" -}}
{{- $all := dict -}}
{{- if eq .Values.certs.mode "cert-manager" -}}{{- $_ := set $all "cert-manager.io/inject-ca-from" (printf "%s/%s" .Release.Namespace (include "loralint.name" .)) -}}{{- end -}}
{{- range $key, $value := .Values.webhookAnnotations -}}{{- $_ := set $all $key $value -}}{{- end -}}
{{- if $all -}}
annotations: {{- toYaml $all | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Namespaces of one mode. Those without the label, or with a word that is none, are of the default mode. */}}
{{- define "loralint.namespaces" -}}
matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values: {{- concat (list "kube-system" .root.Release.Namespace) .root.Values.excludeNamespaces | uniq | toYaml | nindent 6 }}
  - key: loralint.dev/mode
{{- if eq .mode .root.Values.defaultMode }}
    operator: NotIn
    values: {{- without (list "off" "warn" "enforce") .mode | toYaml | nindent 6 }}
{{- else }}
    operator: In
    values: [{{ .mode }}]
{{- end }}
{{- end -}}
