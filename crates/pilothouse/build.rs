//! Makes cargo embed the page anew whenever its build has changed.

fn main() {
    let built = "../../web/dist";
    // A path that is missing counts as changed, and every build would compile the program again. Where the folder cannot
    // be made, that is all that happens.
    let _ = std::fs::create_dir_all(built);
    // The only reader of this line is cargo.
    #[expect(clippy::disallowed_macros, reason = "this is how a build script talks to cargo")]
    {
        println!("cargo::rerun-if-changed={built}");
    }
}
