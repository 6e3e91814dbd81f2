#compdef perfc
# zsh completion for perfc: source <(perfc completion zsh), or as _perfc in a directory of $fpath
_perfc() {
    local line word
    local -a given words_found described options
    given=("${(@Q)words[2,CURRENT]}")
    while IFS= read -r line; do
        case $line in
        :files) _files ;;
        :directories) _files -/ ;;
        :nospace) options=(-S '') ;;
        *)
            word=${line%%$'\t'*}
            words_found+=("$word")
            if [[ $line == *$'\t'* ]]; then
                described+=("$word  -- ${line#*$'\t'}")
            else
                described+=("$word")
            fi
            ;;
        esac
    done < <("${(Q)words[1]}" completion words -- "${given[@]}" 2>/dev/null)
    (( $#words_found )) && compadd -l $options -d described -a words_found
}
if [[ ${funcstack[1]} == _perfc ]]; then
    _perfc "$@"
else
    compdef _perfc perfc
fi
