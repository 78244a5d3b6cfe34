{{/* The pod of a task that ends: made of root, account, component and args; settings: whether it reads them. */}}
{{- define "loralint.pod" -}}
metadata:
  labels:
    app.kubernetes.io/name: loralint
    app.kubernetes.io/instance: {{ .root.Release.Name }}
    app.kubernetes.io/component: {{ .component }}
spec:
  serviceAccountName: {{ .account }}
  automountServiceAccountToken: true
  restartPolicy: Never
  securityContext: {{- include "loralint.podSecurity" .root | nindent 4 }}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "loralint.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{- toYaml .args | nindent 8 }}
      resources: {requests: {cpu: 50m, memory: 128Mi}, limits: {memory: 512Mi}}
      securityContext: {{- include "loralint.containerSecurity" .root | nindent 8 }}
      {{- if .settings }}
      volumeMounts:
        - {name: settings, mountPath: /etc/loralint/settings, readOnly: true}
  volumes:
    - name: settings
      configMap: {name: {{ include "loralint.name" .root }}-settings}
      {{- end }}
{{- end -}}
