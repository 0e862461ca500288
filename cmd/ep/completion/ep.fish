# Completion of ep for fish: ep completion fish > ~/.config/fish/completions/ep.fish
function __ep_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    for line in ($words[1] complete fish -- $words[2..] $cur 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $cur
            case :open
            case '*'
                echo $line
        end
    end
end
complete -c ep -f -a '(__ep_complete)'
