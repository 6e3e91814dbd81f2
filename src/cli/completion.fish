# fish completion for perfc: perfc completion fish | source
function __perfc_words
    set -l given (commandline -opc)
    set -l current (commandline -ct)
    for line in ($given[1] completion words -- $given[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':directories'
                __fish_complete_directories "$current"
            case ':nospace'
            case '*'
                echo $line
        end
    end
end
complete -c perfc -f -a '(__perfc_words)'
