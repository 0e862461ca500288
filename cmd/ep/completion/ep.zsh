#compdef ep
# Completion of ep for zsh: ep completion zsh > "${fpath[1]}/_ep"
_ep() {
	local line files=0
	local -a names shown open
	while IFS= read -r line; do
		case $line in
		:files) files=1 ;;
		:open) open=(-S '') ;;
		*)
			names+=("${line%%$'\t'*}")
			shown+=("${line/$'\t'/  -- }")
			;;
		esac
	done < <("${words[1]}" complete zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
	(( $#names )) && compadd $open -l -d shown -a names
	(( files )) && _files
}
if [ "$funcstack[1]" = _ep ]; then
	_ep "$@"
else
	compdef _ep ep
fi
