//! The mission, which is logged by `defmt` on a board and printed on a computer.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod board;

#[cfg(not(target_os = "none"))]
fn main() -> Result<(), unstuck_core::PolicyError> {
    use unstuck_firmware::{Exit, FLASH_SIZE, Flash, run};

    let mut memory = [0; FLASH_SIZE];
    while let Exit::Reset = run(Flash::over(&mut memory), &mut |entry| println!("{entry}"))? {}
    Ok(())
}
