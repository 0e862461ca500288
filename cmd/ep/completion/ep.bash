# Completion of ep for bash: source <(ep completion bash)
_ep() {
	local line files
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files)
			mapfile -t files < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
			COMPREPLY+=("${files[@]}")
			compopt -o filenames 2>/dev/null
			;;
		:open) compopt -o nospace 2>/dev/null ;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <("${COMP_WORDS[0]}" complete bash -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _ep ep
