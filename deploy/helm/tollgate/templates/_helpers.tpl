{{/* Names and labels that all objects share. */}}
{{- define "tollgate.name" -}}
{{- printf "%s" .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "tollgate.selector" -}}
app.kubernetes.io/name: tollgate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* How the kubelet asks for `.path`, given `.config`. It has no certificate: where clients must show one, it looks only whether the port is open. */}}
{{- define "tollgate.probe" -}}
{{- if ((.config.server).tls).client_ca -}}
tcpSocket: { port: http }
{{- else -}}
httpGet: { path: {{ .path }}, port: http, scheme: {{ if (.config.server).tls }}HTTPS{{ else }}HTTP{{ end }} }
{{- end -}}
{{- end -}}
