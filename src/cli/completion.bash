# bash completion for perfc: source <(perfc completion bash)
_perfc() {
    local word line current prefix='' joined='' count=0
    local -a words
    COMPREPLY=()
    # Readline breaks words at `=`; perfc is asked about whole ones.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $word == '=' && $count -gt 0 ]]; then
            words[count-1]+='='
            joined=1
        elif [[ -n $joined ]]; then
            words[count-1]+=$word
            joined=
        else
            words[count]=$word
            count=$((count + 1))
        fi
    done
    current=${words[count-1]}
    current=${current#[\'\"]}
    words[count-1]=$current
    # What stands before the last `=` is no part of the word that readline replaces.
    [[ $COMP_WORDBREAKS == *=* && $current == *=* ]] && prefix=${current%"${current##*=}"}
    while IFS= read -r line; do
        case $line in
        :files)
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${current#"$prefix"}")
            ;;
        :directories)
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "${current#"$prefix"}")
            ;;
        :nospace) compopt -o nospace 2>/dev/null ;;
        *)
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$prefix"}")
            ;;
        esac
    done < <("${COMP_WORDS[0]}" completion words -- "${words[@]}" 2>/dev/null)
    return 0
}
complete -F _perfc perfc
